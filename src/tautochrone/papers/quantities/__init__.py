"""What a query's statistic means, one file for each kind of experiment that has numbers of its own."""
