"""One file per kind of chart. Each is a pure function from series to a Vega-Lite chart."""
