"""Events in words, one sentence each and one way for each machine: what a finding, a trace and the explorer print."""
