"""From a request to an answer: what took place of that, then choose, count, compare, measure, say."""
