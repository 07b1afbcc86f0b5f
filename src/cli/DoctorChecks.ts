import { statfs } from "node:fs/promises"
import { Cause, Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { SqliteMaintenance } from "../../actors/database/SqliteMaintenance.ts"
import { Vault } from "../../actors/vault/Vault.ts"
import { Sandbox } from "../../runner/sandbox/Sandbox.ts"
import { type Tool, type ToolOrigin, toolTitles } from "../../runner/toolchain/Tool.ts"
import { Toolchain } from "../../runner/toolchain/Toolchain.ts"
import { DataFolder } from "../database/DataFolder.ts"
import type { Finding } from "./DoctorReport.ts"

const gibibyte = 1024 ** 3
const enoughDisk = 2 * gibibyte
const hardlyAnyDisk = gibibyte / 4
// No release is older than this, so no clock may say so.
const releasedAfter = Date.UTC(2026, 0, 1)

const origins = {
  configured: "named by SVC_TOOL",
  managed: "downloaded by this service and verified",
  path: "found on PATH"
} as const satisfies Record<ToolOrigin, string>

/** Which tool executes Runs, and where it comes from. */
export const describeTool = (tool: Tool) =>
  `${toolTitles[tool.name]} ${tool.version}, ${origins[tool.origin]}: ${tool.path}`

export const toolFinding: Effect.Effect<Finding, never, Toolchain> = Effect.flatMap(Toolchain, (tools) =>
  Effect.match(tools.resolve(), {
    onSuccess: (tool): Finding => ({
      check: "tool",
      status: "ok",
      message: describeTool(tool)
    }),
    onFailure: (error): Finding => ({ check: "tool", status: "error", message: error.message, remedy: error.remedy })
  })
)

export const sandboxFinding: Effect.Effect<Finding, never, Sandbox> = Effect.map(Sandbox, ({ status }) => ({
  check: "sandbox",
  status: status.accepted ? (status.level === "bubblewrap" ? "ok" : "warning") : "error",
  message: `${status.level}: ${status.reason}`,
  remedy: status.remedy
}))

export const diskFinding: Effect.Effect<Finding, never, DataFolder> = Effect.flatMap(DataFolder, (folder) =>
  Effect.match(
    Effect.tryPromise(() => statfs(folder.path)),
    {
      onSuccess: ({ bavail, bsize }): Finding => {
        const free = bavail * bsize
        return {
          check: "disk",
          status: free < hardlyAnyDisk ? "error" : free < enoughDisk ? "warning" : "ok",
          message: `${(free / gibibyte).toFixed(1)} GiB free for ${folder.path}`,
          remedy: free < enoughDisk ? "Make room: a full disk stops Runs from saving their state." : undefined
        }
      },
      onFailure: (): Finding => ({ check: "disk", status: "warning", message: "The free space could not be read." })
    }
  )
)

export const databaseFinding: Effect.Effect<Finding, never, SqliteMaintenance> = Effect.flatMap(
  SqliteMaintenance,
  (maintenance) =>
    Effect.match(maintenance.integrityCheck, {
      onSuccess: (problems): Finding =>
        problems.length === 0
          ? { check: "database", status: "ok", message: "The database file is sound." }
          : {
              check: "database",
              status: "error",
              message: problems.slice(0, 5).join("; "),
              remedy: "Stop the server, keep a copy of the data folder, and restore the newest backup into a new one."
            },
      onFailure: (error): Finding => ({ check: "database", status: "error", message: error.message })
    })
)

export const migrationsFinding: Effect.Effect<Finding, never, SqlClient.SqlClient> = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) =>
    Effect.match(sql<{ newest: number }>`SELECT MAX(migration_id) AS newest FROM svc_migrations`, {
      onSuccess: (rows): Finding => ({
        check: "migrations",
        status: "ok",
        message: `The tables are those of this release (version ${rows[0]?.newest ?? 0}).`
      }),
      onFailure: (error): Finding => ({ check: "migrations", status: "error", message: error.message })
    })
)

export const vaultFinding: Effect.Effect<Finding, never, Vault> = Effect.flatMap(Vault, (vault) =>
  Effect.map(vault.keyIds, () => ({ check: "vault", status: "ok", message: "The master key opens the vault." }))
)

export const clockFinding: Effect.Effect<Finding> = Effect.map(Clock.currentTimeMillis, (now) =>
  now > releasedAfter
    ? { check: "clock", status: "ok", message: new Date(now).toISOString() }
    : {
        check: "clock",
        status: "error",
        message: `The clock says ${new Date(now).toISOString()}, which is before this release was made.`,
        remedy: "Set the clock, e.g. with NTP: sessions, tokens and plans expire by it."
      }
)

/** What a part that could not even start says. */
export const failedStart = (check: Finding["check"], cause: Cause.Cause<unknown>): Finding => {
  const error = Cause.squash(cause)
  return { check, status: "error", message: error instanceof Error ? error.message : String(error) }
}
