"""What measured runs allow one to say about a control loop."""
