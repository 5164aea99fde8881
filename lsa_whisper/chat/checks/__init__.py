"""Checks of CHAT's rules, by the part of the file that they are about; the rules stand in ``chat.rules``."""
