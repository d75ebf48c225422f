"""Load on a server of this machine, and on none elsewhere: how it answers, and how far its projection falls behind."""
