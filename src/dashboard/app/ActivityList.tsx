import { Link } from "@tanstack/react-router"
import type { AuditEvent } from "../api/Types.ts"
import { Time } from "../ui/Time.tsx"
import { useLanguage, useWords } from "../words/Words.ts"
import { actionWords } from "./ActionWords.ts"
import { ActivityTarget } from "./ActivityTarget.tsx"
import { useActorName } from "./Actors.ts"
import { useWorkspace } from "./Workspace.ts"

const isAction = (action: string, names: Readonly<Record<string, string>>): string =>
  names[action] ?? action.replaceAll(/[._]/g, " ")

const kindWord = {
  en: { token: "API token", service: "svc", webhook: "Webhook" },
  ja: { token: "API トークン", service: "svc", webhook: "Webhook" }
}

/** What the person said with it. */
const commentOf = ({ data }: AuditEvent): string | undefined =>
  typeof data.comment === "string" && data.comment !== "" ? data.comment : undefined

export const ActivityList = ({
  events,
  detailed = false
}: {
  readonly events: ReadonlyArray<AuditEvent>
  readonly detailed?: boolean
}) => {
  const words = useWords(actionWords)
  const language = useLanguage()
  const actorName = useActorName()
  const workspace = useWorkspace()
  return (
    <ul className="activity">
      {events.map((event) => (
        <li key={event.id} className="activity-row">
          <span className="activity-mark" aria-hidden="true" />
          <span className="activity-text">
            <span>
              <strong>
                {event.actor.subject === undefined
                  ? event.actor.kind === "user"
                    ? "?"
                    : kindWord[language][event.actor.kind]
                  : actorName(event.actor.subject)}
              </strong>{" "}
              {isAction(event.action, words)}{" "}
              {event.runId === undefined ? null : (
                <Link to="/w/$workspace/runs/$runId" params={{ workspace: workspace.handle, runId: event.runId }}>
                  {words.openRun}
                </Link>
              )}
              {commentOf(event) === undefined ? null : (
                <>
                  {" "}
                  <q>{commentOf(event)}</q>
                </>
              )}
            </span>
            {detailed ? (
              <span className="activity-detail">
                <ActivityTarget event={event} />
              </span>
            ) : null}
          </span>
          <Time at={event.createdAt} />
        </li>
      ))}
    </ul>
  )
}
