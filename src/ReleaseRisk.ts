/** What the person who releases a Run from its agent has to know. */
export const releaseRisk =
  "The tool of this Run may still work on the agent's machine, and nothing can stop it from here. Release the Capsule only when you know that the machine, or the tool on it, is dead: two applies at once damage what both of them manage."
