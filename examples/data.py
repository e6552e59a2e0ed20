"""Published data sets that the examples use, small enough to stand here in full."""

from __future__ import annotations

import numpy as np

#: Annual flow of the Nile at Aswan, 1871-1970, in 1e8 cubic metres
#: (Cobb 1978; Durbin and Koopman 2001).
NILE = np.array(
    """
    1120 1160 963 1210 1160 1160 813 1230 1370 1140 995 935 1110 994 1020 960 1180
    799 958 1140 1100 1210 1150 1250 1260 1220 1030 1100 774 840 874 694 940 833 701
    916 692 1020 1050 969 831 726 456 824 702 1120 1100 832 764 821 768 845 864 862
    698 845 744 796 1040 759 781 865 845 944 984 897 822 1010 771 676 649 846 812
    742 801 1040 860 874 848 890 744 749 838 1050 918 986 797 923 975 815 1020 906
    901 1170 912 746 919 718 714 740
    """.split(),
    dtype=float,
)

#: Earthquakes of magnitude 7 or more in the world, a year, 1900-2006
#: (Zucchini and MacDonald 2009, table 1.1).
EARTHQUAKES = np.array(
    """
    13 14 8 10 16 26 32 27 18 32 36 24 22 23 22 18 25 21 21 14 8 11 14 23 18 17 19
    20 22 19 13 26 13 14 22 24 21 22 26 21 23 24 27 41 31 27 35 26 28 36 39 21 17 22
    17 19 15 34 10 15 22 18 15 20 15 22 19 16 30 27 29 23 20 16 21 21 25 16 18 15 18
    14 10 15 8 15 6 11 8 7 18 16 13 12 13 20 15 16 12 18 15 16 13 15 16 11 11
    """.split(),
    dtype=float,
)

#: Yearly mean sunspot numbers, 1700-1800 (Wolf's series).
SUNSPOTS = np.array(
    """
    5 11 16 23 36 58 29 20 10 8 3 0 0 2 11 27 47 63 60 39 28 26 22 11 21 40 78 122
    103 73 47 35 11 5 16 34 70 81 111 101 73 40 20 16 5 11 22 40 60 80.9 83.4 47.7
    47.8 30.7 12.2 9.6 10.2 32.4 47.6 54 62.9 85.9 61.2 45.1 36.4 20.9 11.4 37.8
    69.8 106.1 100.8 81.6 66.5 34.8 30.6 7 19.8 92.5 154.4 125.9 84.8 68.1 38.5 22.8
    10.2 24.1 82.9 132 130.9 118.1 89.9 66.6 60 46.9 41 21.3 16 6.4 4.1 6.8 14.5
    """.split(),
    dtype=float,
)

#: Pelts of hares and lynxes, in thousands, Hudson Bay Company, 1900-1920
#: (Howard 2009).
HARES = np.array(
    """
    30 47.2 70.2 77.4 36.3 20.6 18.1 21.4 22 25.4 27.1 40.3 57 76.6 52.3 19.5 11.2
    7.6 14.6 16.2 24.7
    """.split(),
    dtype=float,
)
LYNXES = np.array(
    """
    4 6.1 9.8 35.2 59.4 41.7 19 13 8.3 9.1 7.4 8 12.3 19.5 45.7 51.1 29.7 15.8 9.7
    10.1 8.6
    """.split(),
    dtype=float,
)

#: Minutes from one eruption of Old Faithful to the next, the first 40
#: (Azzalini and Bowman 1990).
WAITING = np.array(
    """
    79 54 74 62 85 55 88 85 51 85 54 84 78 47 83 52 62 84 52 79 51 47 78 69 74 83 55
    76 78 79 73 77 66 80 74 52 48 80 59 90
    """.split(),
    dtype=float,
)

#: Weeks in remission of 42 leukaemia patients, whether the relapse was seen, and the
#: treatment: 1 for 6-mercaptopurine, 0 for placebo (Freireich et al. 1963).
REMISSION_WEEKS = np.array(
    """
    6 6 6 6 7 9 10 10 11 13 16 17 19 20 22 23 25 32 32 34 35
    1 1 2 2 3 4 4 5 5 8 8 8 8 11 11 12 12 15 17 22 23
    """.split(),
    dtype=float,
)
RELAPSED = np.array(
    """
    1 1 1 0 1 0 1 0 0 1 1 0 0 0 1 1 0 0 0 0 0
    1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1
    """.split(),
    dtype=float,
)
TREATED = np.repeat([1.0, 0.0], 21)
