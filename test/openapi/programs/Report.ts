// A program over the client that @hey-api/openapi-ts generates: the contents of a Workspace, and how a refusal looks.
import { client } from "./generated/client/client.gen.ts"
import {
  discoveryCapabilities,
  runsCost,
  runsEvents,
  runsLogs,
  runsRead,
  workspacesCapsules,
  workspacesList,
  workspacesRuns
} from "./generated/client/index.ts"

const { SVC_TOKEN: token = "", SVC_URL: baseUrl = "" } = process.env
client.setConfig({ baseUrl, auth: ({ scheme }) => (scheme === "bearer" ? token : undefined) })

const { data: discovery } = await discoveryCapabilities({ throwOnError: true })
const { data: page } = await workspacesList({ throwOnError: true, query: { limit: 1 } })
const workspaceId = page.workspaces[0]?.id ?? ""
const { data: capsules } = await workspacesCapsules({ throwOnError: true, path: { workspaceId } })
const { data: listed } = await workspacesRuns({ throwOnError: true, path: { workspaceId }, query: { limit: 100 } })

const kinds = new Set<string>()
let lines = 0
for (const { id } of listed.runs) {
  const events = await runsEvents({ throwOnError: true, path: { runId: id }, query: { after: 0, limit: 1000 } })
  if ("events" in events.data) for (const { kind } of events.data.events) kinds.add(kind)
  const log = await runsLogs({ throwOnError: true, path: { runId: id } })
  if ("entries" in log.data) lines += log.data.entries.length
  await runsCost({ throwOnError: true, path: { runId: id } })
}
const refused = await runsRead({ path: { runId: "run_unknown" } })
process.stdout.write(
  `${JSON.stringify({
    product: discovery.product,
    capsules: capsules.capsules.map(({ status }) => status),
    runs: listed.runs.map(({ type, status }) => `${type} ${status}`).toSorted(),
    kinds: [...kinds].toSorted(),
    lines: lines > 0,
    refused: [refused.response?.status, refused.error?.error.code]
  })}\n`
)
