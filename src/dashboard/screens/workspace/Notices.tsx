import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { call } from "../../api/Call.ts"
import {
  noticesRemoveEndpoint,
  noticesRotateSecret,
  noticesTestEndpoint,
  noticesUpdateEndpoint
} from "../../api/Endpoints.ts"
import { noticeEndpointsQuery } from "../../api/NoticeQueries.ts"
import type { NoticeEndpoint } from "../../api/Types.ts"
import { RemovalDialog } from "../../app/RemovalDialog.tsx"
import { useMay, useWorkspace } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { ConfirmDialog } from "../../ui/ConfirmDialog.tsx"
import { useDecision } from "../../ui/Decision.ts"
import { Empty, FaultNotice } from "../../ui/Feedback.tsx"
import { Panel } from "../../ui/Layout.tsx"
import { Menu, MenuItem } from "../../ui/Menu.tsx"
import { SecretOnce } from "../../ui/SecretOnce.tsx"
import { Status, type StatusTone } from "../../ui/Status.tsx"
import { Time } from "../../ui/Time.tsx"
import { toast } from "../../ui/Toast.tsx"
import { noticeKinds } from "../../words/NoticeKindWords.ts"
import { vocabulary } from "../../words/Vocabulary.ts"
import { useWords } from "../../words/Words.ts"
import { NoticeEndpointDialog } from "./NoticeEndpointDialog.tsx"
import { NoticeLog } from "./NoticeLog.tsx"
import { noticeWords } from "./NoticeWords.ts"

const toneOf = ({ failingSince, state }: NoticeEndpoint): StatusTone => {
  if (state !== "active") return "bad"
  return failingSince === undefined ? "good" : "attention"
}

/** Asks for confirmation, creates a new secret, and shows it once. */
const NewSecret = ({ endpoint, onClose }: { readonly endpoint: NoticeEndpoint; readonly onClose: () => void }) => {
  const words = useWords(noticeWords)
  const workspace = useWorkspace()
  const queryClient = useQueryClient()
  const rotate = useDecision({
    send: async (signal): Promise<string | undefined> => {
      const answer = await call(noticesRotateSecret, {
        signal,
        params: { workspaceId: workspace.id, endpointId: endpoint.id },
        body: { secretVersion: endpoint.secretVersion ?? 1 }
      })
      return "secret" in answer ? answer.secret : undefined
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey: noticeEndpointsQuery(workspace.id).queryKey })
  })
  if (rotate.data !== undefined) {
    return (
      <SecretOnce
        title={words.secretTitle}
        text={words.secretText}
        secret={rotate.data}
        done={words.done}
        onClose={onClose}
      />
    )
  }
  return (
    <ConfirmDialog
      title={words.rotateTitle(endpoint.name)}
      action={words.rotate}
      change={rotate}
      onConfirm={() => rotate.mutate()}
      onClose={onClose}
    >
      {words.rotateText}
    </ConfirmDialog>
  )
}

const Endpoint = ({ endpoint }: { readonly endpoint: NoticeEndpoint }) => {
  const words = useWords(noticeWords)
  const terms = useWords(vocabulary)
  const workspace = useWorkspace()
  const queryClient = useQueryClient()
  const may = useMay()
  const [asking, ask] = useState<"edit" | "log" | "secret" | "remove" | undefined>(undefined)
  const close = () => ask(undefined)
  const params = { workspaceId: workspace.id, endpointId: endpoint.id }
  const { queryKey } = noticeEndpointsQuery(workspace.id)
  const switchState = useDecision({
    send: (signal) =>
      call(noticesUpdateEndpoint, {
        signal,
        params,
        body: { state: endpoint.state === "active" ? "disabled" : "active" }
      }),
    onSettled: () => queryClient.invalidateQueries({ queryKey })
  })
  const test = useDecision({
    send: (signal) => call(noticesTestEndpoint, { signal, params, body: {} }),
    onSuccess: () => {
      toast(words.tested)
      ask("log")
    }
  })
  const isFiltered = Object.keys(endpoint.filter).length > 0
  const parts = [
    words.formats[endpoint.format],
    endpoint.host,
    endpoint.kinds.length === noticeKinds.length ? words.allKinds : words.someKinds(endpoint.kinds.length),
    ...(isFiltered ? [words.filtered] : []),
    ...(endpoint.waiting === 0 ? [] : [words.waiting(endpoint.waiting)]),
    ...(endpoint.reason === undefined ? [] : [words.reasons[endpoint.reason]])
  ]
  return (
    <li className="row row-static">
      <span className="row-name row-stack">
        <strong>{endpoint.name}</strong>
        <span className="muted">{parts.join(" · ")}</span>
        {endpoint.failingSince === undefined ? null : (
          <span className="muted">
            {words.failing} <Time at={endpoint.failingSince} />
          </span>
        )}
        {switchState.error === null ? null : <FaultNotice error={switchState.error} />}
        {test.error === null ? null : <FaultNotice error={test.error} />}
      </span>
      <Status tone={toneOf(endpoint)}>{words.state[endpoint.state]}</Status>
      <span className="row-end">
        <Button small of={endpoint.name} tone="quiet" onClick={() => ask("log")}>
          {words.log}
        </Button>
        {may("admin") ? (
          <Menu
            trigger={
              <Button small tone="quiet" aria-label={`${terms.more}: ${endpoint.name}`}>
                {terms.more}
              </Button>
            }
          >
            <MenuItem busy={test.isPending} onSelect={() => test.mutate()}>
              {words.test}
            </MenuItem>
            <MenuItem onSelect={() => ask("edit")}>{words.edit}</MenuItem>
            <MenuItem busy={switchState.isPending} onSelect={() => switchState.mutate()}>
              {endpoint.state === "active" ? words.disable : words.enable}
            </MenuItem>
            {endpoint.format === "json" ? <MenuItem onSelect={() => ask("secret")}>{words.rotate}</MenuItem> : null}
            <MenuItem danger onSelect={() => ask("remove")}>
              {terms.remove}
            </MenuItem>
          </Menu>
        ) : null}
      </span>
      {asking === "edit" ? <NoticeEndpointDialog endpoint={endpoint} onClose={close} /> : null}
      {asking === "log" ? <NoticeLog endpoint={endpoint} onClose={close} /> : null}
      {asking === "secret" ? <NewSecret endpoint={endpoint} onClose={close} /> : null}
      {asking === "remove" ? (
        <RemovalDialog
          title={words.removeTitle(endpoint.name)}
          action={terms.remove}
          remove={(signal) => call(noticesRemoveEndpoint, { signal, params })}
          list={queryKey}
          onClose={close}
        >
          {words.removeText}
        </RemovalDialog>
      ) : null}
    </li>
  )
}

/** The endpoints that receive the Workspace's notices. */
export const Notices = () => {
  const words = useWords(noticeWords)
  const workspace = useWorkspace()
  const may = useMay()
  const endpoints = useQuery(noticeEndpointsQuery(workspace.id))
  const [adding, add] = useState(false)
  return (
    <div className="stack">
      {endpoints.error === null ? null : <FaultNotice error={endpoints.error} />}
      <Panel
        flush
        title={words.title}
        about={words.about}
        actions={may("admin") ? <Button onClick={() => add(true)}>{words.add}</Button> : null}
      >
        {endpoints.data?.length === 0 ? (
          <Empty icon="warning" title={words.none}>
            {words.noneText}
          </Empty>
        ) : null}
        <ul className="rows">
          {(endpoints.data ?? []).map((endpoint) => (
            <Endpoint key={endpoint.id} endpoint={endpoint} />
          ))}
        </ul>
      </Panel>
      {adding ? <NoticeEndpointDialog onClose={() => add(false)} /> : null}
    </div>
  )
}
