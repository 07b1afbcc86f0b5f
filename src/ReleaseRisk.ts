/** The risk that a person has to accept before releasing a Run from its agent. */
export const releaseRisk =
  "The tool of this Run may still work on the agent's machine, and nothing can stop it from here. Release the Capsule only when you know that the machine, or the tool on it, is dead: two applies at once damage what both of them manage."
