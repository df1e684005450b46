"""What came of requirements and gates, for the programs that build and test: JUnit XML, and Markdown."""
