import type { Extension } from "../records/Discovery.ts"
import { ApprovalsApi } from "./ApprovalsApi.ts"
import { AuditApi } from "./AuditApi.ts"
import { BackupImportsApi } from "./BackupImportsApi.ts"
import { BackupsApi } from "./BackupsApi.ts"
import { ExportsApi } from "./ExportsApi.ts"
import { InvitationsApi } from "./InvitationsApi.ts"
import { LeftOverStatesApi } from "./LeftOverStatesApi.ts"
import { StateResourcesApi } from "./StateResourcesApi.ts"
import { StateUploadsApi } from "./StateUploadsApi.ts"
import { TeamsApi } from "./TeamsApi.ts"

interface Endpoint {
  readonly method: string
  readonly path: string
}

const family = (name: string, summary: string, endpoints: Readonly<Record<string, Endpoint>>): Extension => ({
  name,
  summary,
  endpoints: Object.values(endpoints).map(({ method, path }) => `${method} ${path}`)
})

/** The families of endpoints beyond sections 1 to 9 of the specification, which a client may find on one server and not on another. */
export const extensions: ReadonlyArray<Extension> = [
  family("invitations", "Invitations to a Workspace, by link or by mail.", InvitationsApi.endpoints),
  family("teams", "Teams of a Workspace and their roles.", TeamsApi.endpoints),
  family("approval-rules", "How many people have to approve what.", ApprovalsApi.endpoints),
  family("audit", "The operation history as JSON lines.", AuditApi.endpoints),
  family("state-uploads", "Existing state that an install takes over.", StateUploadsApi.endpoints),
  family("state-resources", "The resources of a Capsule, without values.", StateResourcesApi.endpoints),
  family("left-over-states", "States that a Run left behind.", LeftOverStatesApi.endpoints),
  family("restores", "Backups of a Capsule or Workspace, and restoring from them.", BackupsApi.endpoints),
  family("backup-imports", "A Capsule from the backup of another installation.", BackupImportsApi.endpoints),
  family("exports", "A Capsule as files with which the bare tool goes on.", ExportsApi.endpoints)
]
