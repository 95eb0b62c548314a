"""Numbers in words, as questions and answers have them."""

TO_TWENTY = (
    'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen '
    'seventeen eighteen nineteen twenty'
).split()
TENS = 'twenty thirty forty fifty sixty seventy eighty ninety hundred'.split()
