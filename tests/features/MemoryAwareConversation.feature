Feature: Memory-aware conversation
  The context of the next answer comes from three sources, within limits, and nothing stands in it twice.

  Background:
    Given the user once said "Remember that I am allergic to nuts"
    And the user once said "My violin teacher is Ms Okafor"

  Scenario: Context is built from multiple sources
    Given 3 messages of small talk in this conversation
    And the user once said "The violin needs new strings"
    And the user once said "The violin lesson is in the old town"
    When the user asks "Where is my violin lesson with my teacher?"
    Then the context holds "small talk 3" from recent
    And the context holds "My violin teacher is Ms Okafor" from semantic
    And the context holds "Remember that I am allergic to nuts" from important

  Scenario: The newest exchanges come first in choice and stand in the order said
    Given 12 messages of small talk in this conversation
    When the user asks "And then?"
    Then the recent part holds "small talk 8" to "small talk 12"
    And the memories are in chronological order
    And the input "And then?" stands once, as the last line

  Scenario: At most three memories come from the search
    Given 12 messages of small talk in this conversation
    And the user once said "The violin needs new strings"
    And the user once said "A violin costs more than I thought"
    And the user once said "My sister plays the violin too"
    When the user asks "Tell me about the violin"
    Then at most 3 memories come from semantic

  Scenario Outline: Never more than eight memories
    Given <messages> messages of small talk in this conversation
    When the user asks "small talk about the violin and the nuts"
    Then the context holds <memories> memories, none of them twice

    Examples: as many as fit, one more, many more
      | messages | memories |
      | 1        | 3        |
      | 6        | 8        |
      | 7        | 8        |
      | 40       | 8        |

  Scenario: Another user's memories stay out
    Given another user once said "My violin is a Guarneri"
    When the user asks "What violin do I have?"
    Then the context does not hold "My violin is a Guarneri"
