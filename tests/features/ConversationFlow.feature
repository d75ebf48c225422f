Feature: Conversation flow
  A conversation from the first word to an answer from memory, without a language model.

  Scenario: What was said is remembered in the next turn
    Given the user says "My name is Anna and I live in Lyon"
    And the user says "I prefer tea to coffee"
    When the user says "What do I prefer, tea or coffee?"
    Then the answer quotes "I prefer tea to coffee"
    And the prompt holds the line "- You said (2 minutes ago): My name is Anna and I live in Lyon"
    And the prompt ends with "Current user input: What do I prefer, tea or coffee?"

  Scenario: A conversation keeps its id, and another one has another
    Given the user says "Hello"
    When the user says "How are you?"
    And the user begins a new conversation
    And the user says "Good evening"
    Then there are 2 conversations of 4 and 2 memories

  Scenario Outline: Tag extraction
    When a userinput memory "<content>" is stored
    Then its tags are <tags>

    Examples:
      | content                               | tags                        |
      | A sunny forecast                      | weather                     |
      | Good morning                          | greeting                    |
      | Where did it go                       | question                    |
      | My favorite colour                    | preference                  |
      | Yes, I work at the port               | personal                    |
      | The meeting is on my calendar         | time                        |
      | Breaking events                       | news                        |
      | How is the weather today?             | weather, question, news     |
      | HELLO                                 | greeting                    |
      | The train to Rome                     | weather                     |
      | Blue                                  | none                        |

  Scenario Outline: Time-based display
    Given the user said "The blue suitcase" <earlier>
    When the user asks "Which suitcase?"
    Then the prompt holds the line "- You said (<shown>): The blue suitcase"

    Examples: it is noon on the first of May
      | earlier    | shown          |
      | 59 seconds | just now       |
      | 60 seconds | 1 minutes ago  |
      | 59 minutes | 59 minutes ago |
      | 60 minutes | 1 hours ago    |
      | 23 hours   | 23 hours ago   |
      | 24 hours   | 1 days ago     |
      | 6 days     | 6 days ago     |
      | 7 days     | Apr 24         |
      | 30 days    | Apr 1          |

  Scenario: The answer's own lines are the assistant's
    Given the user says "I prefer tea to coffee"
    When the user asks "Which drink?"
    Then a line of the prompt begins with "- I responded (1 minutes ago): "
