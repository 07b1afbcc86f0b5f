import { capsuleStatuses, isEnded } from "../../../../schema/records/CapsuleLifecycle.ts"
import "../../app/Kit.ts"
import { useQuery } from "@tanstack/react-query"
import { useNavigate, useSearch } from "@tanstack/react-router"
import { useDeferredValue, useMemo, useState } from "react"
import { capsulesQuery, sourcesQuery } from "../../api/Queries.ts"
import type { Capsule } from "../../api/Types.ts"
import { matching, searchable } from "../../app/Matching.ts"
import { appWords } from "../../app/Words.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { LinkButton } from "../../ui/Button.tsx"
import { Empty, Loadable, Skeleton } from "../../ui/Feedback.tsx"
import { Filter } from "../../ui/Filter.tsx"
import { Page, Panel } from "../../ui/Layout.tsx"
import { vocabulary } from "../../words/Vocabulary.ts"
import { useWords } from "../../words/Words.ts"
import { CapsuleList } from "./CapsuleList.tsx"
import { capsuleListWords } from "./Words.ts"

const drifts: ReadonlyArray<Capsule["driftStatus"]> = ["unknown", "none", "drifted"]
export const CapsulesScreen = () => {
  const text = useWords(capsuleListWords)
  const terms = useWords(vocabulary)
  const app = useWords(appWords)
  const workspace = useWorkspace()
  const search = useSearch({ from: "/w/$workspace/capsules" })
  const navigate = useNavigate({ from: "/w/$workspace/capsules" })
  const query = useQuery(capsulesQuery(workspace.id))
  const { data: sourceList } = useQuery(sourcesQuery(workspace.id))
  const sources = useMemo(() => new Map((sourceList ?? []).map((source) => [source.id, source])), [sourceList])
  // The field stores its own text instead of reading it from the URL, because waiting for the URL to change would interrupt
  // Japanese text input.
  const [input, setInput] = useState(search.q ?? "")
  const typed = useDeferredValue(input)
  const wanted = useMemo(
    () =>
      searchable(
        (query.data ?? []).filter(
          (capsule) =>
            (search.status === undefined ? !isEnded(capsule.status) : capsule.status === search.status) &&
            (search.drift === undefined || capsule.driftStatus === search.drift)
        ),
        (capsule) =>
          `${capsule.name} ${capsule.environment} ${capsule.modulePath} ${sources.get(capsule.sourceId)?.url ?? ""}`
      ),
    [query.data, search.status, search.drift, sources]
  )
  const shown = useMemo(() => matching(wanted, typed), [wanted, typed])
  const filtered = search.q !== undefined || search.status !== undefined || search.drift !== undefined
  const change = (next: Partial<typeof search>) => void navigate({ search: { ...search, ...next }, replace: true })
  return (
    <Page
      title={text.title}
      about={text.about}
      actions={
        <LinkButton tone="primary" icon="plus" to="/new">
          {app.install}
        </LinkButton>
      }
    >
      <div className="toolbar">
        <input
          type="search"
          className="input toolbar-search"
          data-page-search
          aria-label={text.search}
          placeholder={text.search}
          value={input}
          onChange={(event) => {
            setInput(event.target.value)
            change({ q: event.target.value === "" ? undefined : event.target.value })
          }}
        />
        <Filter
          label={text.status}
          value={search.status}
          options={capsuleStatuses.map((status) => [status, terms.capsuleStatus[status]])}
          onChange={(status) => change({ status })}
        />
        <Filter
          label={text.drift}
          value={search.drift}
          options={drifts.map((drift) => [drift, terms.drift[drift]])}
          onChange={(drift) => change({ drift })}
        />
        {query.data === undefined ? null : <output className="count">{text.found(shown.length)}</output>}
      </div>
      <Panel flush>
        <Loadable query={query} skeleton={<Skeleton rows={8} />}>
          {() =>
            shown.length === 0 ? (
              <Empty
                icon="capsule"
                title={text.emptyTitle}
                action={
                  filtered ? undefined : (
                    <LinkButton tone="primary" icon="plus" to="/new">
                      {app.install}
                    </LinkButton>
                  )
                }
              >
                <p>{filtered ? text.emptyFiltered : text.emptyText}</p>
              </Empty>
            ) : (
              <CapsuleList all={query.data ?? []} capsules={shown} sources={sources} />
            )
          }
        </Loadable>
      </Panel>
    </Page>
  )
}
