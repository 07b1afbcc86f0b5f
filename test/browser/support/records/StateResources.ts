import type { ResourceEvent, StateResource } from "../../../../src/dashboard/api/Types.ts"
import { applyRun, driftRun, reviewRun } from "./Runs.ts"
import { ago, commit } from "./Seeds.ts"

const provider = "hashicorp/aws"

const resource = (address: string, id: string | undefined, minutes: number): StateResource => ({
  address,
  type: address.split(".").findLast((part) => part.startsWith("aws_")) ?? "aws_instance",
  provider,
  ...(id === undefined ? {} : { id }),
  changedByRunId: applyRun,
  changedAt: ago(minutes),
  commit: commit(39)
})

export const resources: ReadonlyArray<StateResource> = [
  resource("aws_ecs_service.api", "storefront/api", 4),
  resource("aws_iam_access_key.deploy", undefined, 90),
  resource("aws_s3_bucket.assets", "acme-storefront-assets-production", 90),
  { ...resource("aws_launch_template.api", "lt-07ab22f19cc0d4e81", 4), deposed: "ab12cd34" },
  resource('module.network["ap-northeast-1"].aws_security_group.api', "sg-0d1f8a77be2c4f1a9", 20_000)
]

/** Creates this many resources in one module. */
export const manyResources = (count: number): ReadonlyArray<StateResource> =>
  Array.from({ length: count }, (_, index) =>
    resource(`module.fleet.aws_instance.web[${String(index).padStart(4, "0")}]`, `i-${index}`, index)
  )

/** Returns a page of the resources whose address or id contains the search string, as the server does. */
export const resourcePage = (all: ReadonlyArray<StateResource>, query: URLSearchParams) => {
  const text = (query.get("search") ?? "").toLowerCase()
  const found = all.filter(({ address, id }) => `${address} ${id ?? ""}`.toLowerCase().includes(text))
  const from = Number(query.get("cursor") ?? "0")
  const to = from + Number(query.get("limit") ?? "50")
  return { items: found.slice(from, to), nextCursor: to < found.length ? { nextCursor: String(to) } : {} }
}

const run: ResourceEvent["run"] = {
  id: applyRun,
  type: "apply",
  trigger: "user",
  commit: commit(39),
  finishedAt: ago(4),
  planRunId: reviewRun,
  plannedBy: "usr_0000000000000001",
  plannedAt: ago(12),
  approvedBy: "usr_0000000000000002",
  approvedAt: ago(8)
}

/**
 * Returns a resource's history: created by a Run that has since been removed, then changed by svc, and then changed outside
 * svc.
 */
export const resourceHistory = (address: string | null) => ({
  events: [
    { change: "changed", generation: 3, at: ago(4), changedAttributes: ["desired_count", "task_definition"], run },
    { change: "added", generation: 1, at: ago(150_000), run: { id: "run_gone000000000001" } }
  ] satisfies ReadonlyArray<ResourceEvent>,
  ...(address === "aws_ecs_service.api"
    ? { drift: { runId: driftRun, at: ago(1), actions: ["update"], changedAttributes: ["desired_count"] } }
    : {})
})
