Feature: Memory scoring
  Memories that matter more score higher: a base score by content type, one boost for importance keywords, a cap.
  The table of content types is authoritative (P-4).

  Scenario Outline: Content type scoring
    When a <type> memory "The sky over the harbour was grey" is stored
    Then its importance score is <score>

    Examples:
      | type              | score |
      | userpreference    | 0.9   |
      | factuallearning   | 0.8   |
      | contextualfact    | 0.7   |
      | default           | 0.5   |
      | userinput         | 0.4   |
      | assistantresponse | 0.3   |

  Scenario Outline: An unknown content type counts as the default
    When a <type> memory "The sky over the harbour was grey" is stored
    Then its importance score is 0.5

    Examples:
      | type           |
      | gossip         |
      | user_input     |

  Scenario Outline: Importance keyword boosting
    When a userinput memory "<content>" is stored
    Then its importance score is 0.6

    Examples:
      | content                            |
      | Please remember the blue suitcase  |
      | The aisle seat is what I'd prefer  |
      | Lunch is always at one             |
      | Peanuts must never be in it        |
      | Good day, my name is Anna          |
      | Honestly, I am tired               |
      | By the way, I live in Lyon         |
      | These days I work at the port      |
      | REMEMBER THE BLUE SUITCASE         |

  Scenario: Content without a keyword is not boosted
    When a userinput memory "The blue suitcase stands in the hall" is stored
    Then its importance score is 0.4

  Scenario: Several keywords boost once
    When a userinput memory "Remember: my name is Anna, I live in Lyon, and I always prefer tea" is stored
    Then its importance score is 0.6

  Scenario Outline: The score is capped at one and a boost applies to every type
    When a <type> memory "I always prefer tea" is stored
    Then its importance score is <score>

    Examples:
      | type              | score |
      | userpreference    | 1.0   |
      | factuallearning   | 1.0   |
      | contextualfact    | 0.9   |
      | default           | 0.7   |
      | assistantresponse | 0.5   |
