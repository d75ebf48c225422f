Feature: CQRS command handling
  Handling a user's input stores it before anything can fail, decides on a web search, and stores the answer.

  Scenario: Input and answer are both stored
    When the user says "I like my dog Rex"
    Then the conversation holds
      | role | content           |
      | user | I like my dog Rex |
      | bot  | <the answer>      |
    And the answer carries the tags of the input

  Scenario: A model that fails costs no word of the user's
    Given a model that fails
    When the user says "My dog is called Rex"
    Then the turn fails
    And the conversation holds
      | role | content              |
      | user | My dog is called Rex |

  Scenario: A retry stores nothing twice
    Given a model that fails once
    When the user says "My dog is called Rex"
    And the user sends it again
    Then the conversation holds
      | role | content              |
      | user | My dog is called Rex |
      | bot  | <the answer>         |

  Scenario: Reading stores nothing
    Given the user once said "My dog is called Rex"
    When the user asks "What is my dog called?"
    Then 1 memory is stored

  Scenario Outline: Empty content is no memory
    When an empty memory "<content>" is stored
    Then it is refused

    Examples:
      | content |
      |         |
      | \t      |

  Scenario Outline: What triggers a web search
    Given a web search that knows "Rain until noon"
    When the user says "<input>"
    Then the web was searched: <searched>

    Examples:
      | input                              | searched |
      | What's in the news?                | yes      |
      | How is the weather today?          | yes      |
      | Any update on the strike?          | yes      |
      | What is the LATEST on the bridge?  | yes      |
      | What is the capital of Peru?       | no       |
      | Tell me about Lima                 | no       |
      | My dog is called Rex               | no       |

  Scenario: Web results stand first in the prompt
    Given a web search that knows "Rain until noon"
    And the user once said "I take the umbrella to the harbour"
    When the user says "Will it rain at the harbour today?"
    Then the prompt begins with
      """
      Here's current web search information relevant to your question:
      Rain until noon

      Here's some relevant context from our previous conversations:
      """

  Scenario: A web search that fails leaves no block, and the turn goes on
    Given a web search that fails
    When the user says "Will it rain at the harbour today?"
    Then the prompt holds no web results
    And the conversation holds
      | role | content                            |
      | user | Will it rain at the harbour today? |
      | bot  | <the answer>                       |
