"""Decision-focused learning with contrastive losses and a solution cache."""
