"""Feature: a measurement of hours to weeks."""
