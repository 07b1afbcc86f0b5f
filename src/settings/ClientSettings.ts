/** Environment variables of client commands: the server, its token, and the context and Workspace to use. */
export const clientEnv = {
  url: "SVC_URL",
  token: "SVC_TOKEN",
  context: "SVC_CONTEXT",
  workspace: "SVC_WORKSPACE",
  code: "SVC_CODE",
  invitation: "SVC_INVITATION"
} as const
