"""What single files say, and the small values everything else is made of."""
