import { useInfiniteQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import type { ReactNode } from "react"
import { resourceHistoryQuery } from "../../api/ResourceQueries.ts"
import type { Capsule, ResourceEvent, StateResource } from "../../api/Types.ts"
import { useActorName } from "../../app/Actors.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { Loadable } from "../../ui/Feedback.tsx"
import { MorePages } from "../../ui/MorePages.tsx"
import { Time } from "../../ui/Time.tsx"
import { shortCommit } from "../../words/Format.ts"
import { vocabulary } from "../../words/Vocabulary.ts"
import { useWords } from "../../words/Words.ts"
import { resourceWords } from "./ResourceWords.ts"

const Names = ({ names }: { readonly names: ReadonlyArray<string> }) =>
  names.map((name, index) => (
    <span key={name}>
      {index === 0 ? " " : ", "}
      <code>{name}</code>
    </span>
  ))

const RunLink = ({ id, children }: { readonly id: string; readonly children: ReactNode }) => {
  const workspace = useWorkspace()
  return (
    <Link to="/w/$workspace/runs/$runId" params={{ workspace: workspace.handle, runId: id }}>
      {children}
    </Link>
  )
}

/** Shows the commit, plan, approver and apply of a change. */
const Way = ({ event: { at, run } }: { readonly event: ResourceEvent }) => {
  const words = useWords(resourceWords)
  const terms = useWords(vocabulary)
  const actorName = useActorName()
  const { approvedAt, approvedBy, commit, id, planRunId, plannedBy, trigger, type } = run
  const asked = plannedBy === undefined ? trigger && terms.trigger[trigger] : words.plannedBy(actorName(plannedBy))
  return (
    <ol className="resource-way">
      {commit === undefined ? null : (
        <li>
          <span className="visually-hidden">{words.commit} </span>
          <code title={commit}>{shortCommit(commit)}</code>
        </li>
      )}
      {planRunId === undefined ? null : (
        <li>
          <RunLink id={planRunId}>{terms.runType.plan}</RunLink> {asked}
        </li>
      )}
      {approvedAt === undefined ? null : (
        <li>{approvedBy === undefined ? words.approvedByService : words.approvedBy(actorName(approvedBy))}</li>
      )}
      <li>
        {type === undefined ? words.recordGone : <RunLink id={id}>{terms.runType[type]}</RunLink>}{" "}
        {at === undefined ? null : <Time at={at} />}
      </li>
    </ol>
  )
}

const Event = ({ event }: { readonly event: ResourceEvent }) => {
  const words = useWords(resourceWords)
  const names = event.changedAttributes ?? []
  return (
    <li className={`resource-event event-${event.change}`}>
      <span>
        <strong>
          {event.change === "changed" && names.length === 0 ? words.changedOnly : words.change[event.change]}
        </strong>
        {event.previousAddress === undefined ? null : <span> {words.movedFrom(event.previousAddress)}</span>}
        {event.tainted === undefined ? null : <span className="tag">{words.tainted}</span>}
        <Names names={names} />
      </span>
      <Way event={event} />
    </li>
  )
}

interface TimelineProps {
  readonly capsule: Capsule
  readonly resource: StateResource
}

/**
 * The history of one resource, newest first. If the resource was changed outside svc after the newest of these changes, that
 * comes first.
 */
export const ResourceTimeline = ({ capsule, resource }: TimelineProps) => {
  const words = useWords(resourceWords)
  const query = useInfiniteQuery(resourceHistoryQuery(capsule.id, capsule.currentStateVersionId, resource))
  return (
    <section className="resource-history" aria-label={words.history(resource.address)}>
      <Loadable query={query}>
        {({ pages }) => {
          const drift = pages[0]?.drift
          const events = pages.flatMap((page) => page.events)
          return events.length === 0 ? (
            <p className="muted">{words.historyNone}</p>
          ) : (
            <ol>
              {drift === undefined ? null : (
                <li className="resource-event event-drift">
                  <span>
                    <strong>{drift.actions.includes("delete") ? words.driftGone : words.drift}</strong>
                    <Names names={drift.changedAttributes} />
                  </span>
                  <ol className="resource-way">
                    <li>
                      <RunLink id={drift.runId}>{words.driftRun}</RunLink>{" "}
                      {drift.at === undefined ? null : <Time at={drift.at} />}
                    </li>
                  </ol>
                </li>
              )}
              {events.map((event) => (
                <Event key={`${event.generation} ${event.change}`} event={event} />
              ))}
            </ol>
          )
        }}
      </Loadable>
      <MorePages query={query} />
    </section>
  )
}
