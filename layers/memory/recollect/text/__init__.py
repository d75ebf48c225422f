"""What a text says by its form alone, in any language: words, terms, sentences, phrases, dates."""
