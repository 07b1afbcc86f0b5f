/** Environment variables of `svc agent`. `src/cli/agent/AgentFlags.ts` declares the corresponding flags. */
export const agentEnv = {
  server: "SVC_AGENT_SERVER",
  pool: "SVC_AGENT_POOL",
  dir: "SVC_AGENT_DIR",
  places: "SVC_AGENT_PLACES",
  name: "SVC_AGENT_NAME",
  labels: "SVC_AGENT_LABELS",
  token: "SVC_AGENT_TOKEN",
  credentials: "SVC_AGENT_CREDENTIALS",
  keyLifetime: "SVC_AGENT_KEY_LIFETIME"
} as const
