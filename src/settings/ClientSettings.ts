/** Variables read by client commands: which server to use, the token for it, and the context and Workspace to work in. */
export const clientEnv = {
  url: "SVC_URL",
  token: "SVC_TOKEN",
  context: "SVC_CONTEXT",
  workspace: "SVC_WORKSPACE",
  code: "SVC_CODE",
  invitation: "SVC_INVITATION"
} as const
