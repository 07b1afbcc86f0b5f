import { useInfiniteQuery, useQuery } from "@tanstack/react-query"
import { Fragment } from "react"
import { agentPoolsQuery, agentsQuery } from "../../api/AgentQueries.ts"
import type { Agent, WorkspacePool } from "../../api/Types.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { Empty, Loadable } from "../../ui/Feedback.tsx"
import { Panel } from "../../ui/Layout.tsx"
import { MorePages } from "../../ui/MorePages.tsx"
import { Status, type StatusTone } from "../../ui/Status.tsx"
import { Time } from "../../ui/Time.tsx"
import { bytes } from "../../words/Format.ts"
import { useWords } from "../../words/Words.ts"
import { agentWords } from "./AgentWords.ts"

const tones: Readonly<Record<Agent["status"], StatusTone>> = {
  connected: "good",
  draining: "attention",
  silent: "bad",
  revoked: "muted"
}

const toolName = ({ name, version }: Agent["tools"][number]): string =>
  `${name === "opentofu" ? "OpenTofu" : "Terraform"} ${version}`

const Labels = ({ labels }: Pick<Agent, "labels">) =>
  Object.entries(labels).map(([name, value]) => (
    <Fragment key={name}>
      {" "}
      <span className="tag">
        {name}={value}
      </span>
    </Fragment>
  ))

const AgentRow = ({ agent }: { readonly agent: Agent }) => {
  const words = useWords(agentWords)
  const { disk, isolation, labels, lastContactAt, name, places, platform, runs, status, tools, version } = agent
  const facts = [
    [words.places, words.placesOf(runs, places), false],
    [
      words.disk,
      `${words.diskFree(bytes(disk.freeBytes), bytes(disk.totalBytes))}${disk.low ? ` · ${words.diskLow}` : ""}`,
      disk.low
    ],
    [words.tools, tools.length === 0 ? words.noTool : tools.map(toolName).join(", "), tools.length === 0],
    [words.isolates, words.levels[isolation], false],
    [words.version, `${version} · ${platform}`, false]
  ] as const
  return (
    <li className="row agent-row" data-testid={`agent-${name}`}>
      <span className="row-name row-stack">
        <span>
          <strong>{name}</strong>
          <Labels labels={labels} />
        </span>
        <span className="muted">
          {words.contact} <Time at={lastContactAt} />
          {status === "draining" ? ` · ${words.drainingText}` : null}
        </span>
      </span>
      <dl className="agent-facts">
        {facts.map(([label, value, isBad]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd className={isBad ? "bad-text" : undefined}>{value}</dd>
          </div>
        ))}
      </dl>
      <Status tone={tones[status]}>{words.statuses[status]}</Status>
    </li>
  )
}

const Pool = ({ pool }: { readonly pool: WorkspacePool }) => {
  const words = useWords(agentWords)
  const workspace = useWorkspace()
  const query = useInfiniteQuery(agentsQuery(workspace.id, pool.name))
  const { isolation, leaseSeconds, name, places, queued, runs } = pool
  const about = [
    words.about(places, runs),
    ...(queued === 0 ? [] : [words.queued(queued)]),
    words.lease(Math.round(leaseSeconds / 60)),
    ...(isolation === undefined ? [] : [words.isolation(words.levels[isolation])])
  ]
  return (
    <Panel flush title={name} about={about.join(" ")}>
      <Loadable query={query}>
        {({ pages }) => {
          const agents = pages.flatMap((page) => page.agents)
          return agents.length === 0 ? (
            <Empty icon="run" title={words.agentsNone}>
              <p>{words.agentsNoneText}</p>
            </Empty>
          ) : (
            <ul className="rows">
              {agents.map((agent) => (
                <AgentRow key={agent.id} agent={agent} />
              ))}
            </ul>
          )
        }}
      </Loadable>
      <MorePages query={query} />
    </Panel>
  )
}

/** The pools of agents that the Workspace may use, with the latest report of each agent about its machine. */
export const Agents = () => {
  const words = useWords(agentWords)
  const workspace = useWorkspace()
  const query = useQuery(agentPoolsQuery(workspace.id))
  return (
    <Loadable query={query}>
      {(pools) =>
        pools.length === 0 ? (
          <Panel>
            <Empty icon="run" title={words.noneTitle}>
              <p>{words.noneText}</p>
            </Empty>
          </Panel>
        ) : (
          pools.map((pool) => <Pool key={pool.name} pool={pool} />)
        )
      }
    </Loadable>
  )
}
