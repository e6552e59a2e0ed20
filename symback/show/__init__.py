"""Tables, drawings and pages: how results look to a person."""
