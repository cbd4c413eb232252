"""Language models: small ones that run here, and one way to ask any of them."""
