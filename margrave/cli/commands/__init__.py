"""One module for each noun of `margrave`; it is imported only when the noun is named."""
