"""What a fine-tuning run has to hold: a model's shape and parameters, how they are trained, and on which windows."""
