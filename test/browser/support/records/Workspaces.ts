import type { Discovery, Workspace } from "../../../../src/dashboard/api/Types.ts"
import { ago } from "./Seeds.ts"

export const workspaceId = "ws_0000000000000001"

export const personalId = "ws_0000000000000002"

export const workspaces: ReadonlyArray<Workspace> = [
  {
    id: workspaceId,
    handle: "acme",
    displayName: "Acme Platform",
    type: "organization",
    role: "owner",
    driftChecks: { mode: "off" },
    createdAt: ago(60 * 24 * 200),
    updatedAt: ago(60)
  },
  {
    id: personalId,
    handle: "mina",
    displayName: "Mina Sato",
    type: "personal",
    role: "owner",
    driftChecks: { mode: "off" },
    createdAt: ago(60 * 24 * 210),
    updatedAt: ago(600)
  }
]

export const discovery = (origin: string): Discovery => ({
  product: "svc",
  name: "svc",
  auth: { oidc: true, password: true },
  apiBaseUrl: `${origin}/api/v1`,
  api_versions: ["svc.dev/v1alpha1"],
  features: {
    stacks: true,
    opentofu_runner: true,
    oidc: false,
    workload_identity: false,
    interfaces: true
  },
  endpoints: {
    api: `${origin}/api/v1`,
    capabilities: `${origin}/api/v1/capabilities`,
    openapi: `${origin}/openapi.json`,
    oidc_issuer: origin
  }
})
