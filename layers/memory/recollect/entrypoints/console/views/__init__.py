"""The pages, by subject: each reads from the API what it shows, and sends to it what a form asks for."""
