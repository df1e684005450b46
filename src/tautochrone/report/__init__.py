"""What people look at: charts, the HTML page, terminal tables."""
