"""What was found, told: the `story` of a history, the `report` of a check, the `table` of all engines.

`output` is how commands write.
"""
