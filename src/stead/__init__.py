"""stead: synthetic microdata to publish in the stead of confidential records."""
