import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { call } from "../../api/Call.ts"
import {
  noticesCreateEndpoint,
  noticesRemoveEndpoint,
  noticesReplayDelivery,
  noticesRotateSecret,
  noticesTestEndpoint,
  noticesUpdateEndpoint
} from "../../api/Endpoints.ts"
import { noticeDeliveriesQuery, noticeEndpointsQuery } from "../../api/NoticeQueries.ts"
import type { NoticeDelivery, NoticeEndpoint, NoticeKind } from "../../api/Types.ts"
import { RemovalDialog } from "../../app/RemovalDialog.tsx"
import { useMay, useWorkspace } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { ConfirmDialog } from "../../ui/ConfirmDialog.tsx"
import { useDecision } from "../../ui/Decision.ts"
import { Dialog } from "../../ui/Dialog.tsx"
import { Empty, FaultNotice } from "../../ui/Feedback.tsx"
import { CheckField, SelectField, TextField } from "../../ui/Field.tsx"
import { FormDialog } from "../../ui/FormDialog.tsx"
import { Panel } from "../../ui/Layout.tsx"
import { Menu, MenuItem } from "../../ui/Menu.tsx"
import { MorePages } from "../../ui/MorePages.tsx"
import { SecretOnce } from "../../ui/SecretOnce.tsx"
import { Status, type StatusTone } from "../../ui/Status.tsx"
import { Time } from "../../ui/Time.tsx"
import { toast } from "../../ui/Toast.tsx"
import { exactTime } from "../../words/Format.ts"
import { noticeKinds, noticeKindWords } from "../../words/NoticeKindWords.ts"
import { vocabulary } from "../../words/Vocabulary.ts"
import { useLanguage, useWords } from "../../words/Words.ts"
import { NoticeKindFields } from "./NoticeKindFields.tsx"
import { noticeWords } from "./NoticeWords.ts"
import { useProjects } from "./PlaceFields.tsx"

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

/** The kinds that require a person's action. */
const usualKinds: ReadonlyArray<NoticeKind> = [
  "run.waiting_approval",
  "run.failed",
  "run.unknown",
  "drift.found",
  "source.broken",
  "connection.failing",
  "backup.failed"
]

const formats = ["json", "slack", "teams"] as const

/** Changes an endpoint, or adds a new endpoint and shows its secret once. */
const NoticeEndpointDialog = ({
  endpoint,
  onClose
}: {
  readonly endpoint?: NoticeEndpoint | undefined
  readonly onClose: () => void
}) => {
  const words = useWords(noticeWords)
  const terms = useWords(vocabulary)
  const workspace = useWorkspace()
  const queryClient = useQueryClient()
  const projects = useProjects()
  const [name, setName] = useState(endpoint?.name ?? "")
  const [address, setAddress] = useState("")
  const [format, setFormat] = useState<NoticeEndpoint["format"]>(endpoint?.format ?? "json")
  const [kinds, setKinds] = useState<ReadonlyArray<NoticeKind>>(endpoint?.kinds ?? usualKinds)
  const [projectIds, setProjectIds] = useState<ReadonlyArray<string>>(endpoint?.filter.projectIds ?? [])
  const [environments, setEnvironments] = useState((endpoint?.filter.environments ?? []).join(", "))
  const save = useDecision({
    send: async (signal): Promise<string | undefined> => {
      const chosen = projects.map(({ id }) => id).filter((id) => projectIds.includes(id))
      const named = environments
        .split(",")
        .map((each) => each.trim())
        .filter((each) => each !== "")
      const filter = {
        ...(chosen.length === 0 ? {} : { projectIds: chosen }),
        ...(named.length === 0 ? {} : { environments: named }),
        ...(endpoint?.filter.capsuleIds === undefined ? {} : { capsuleIds: endpoint.filter.capsuleIds })
      }
      const params = { workspaceId: workspace.id }
      if (endpoint === undefined) {
        const body = { name: name.trim(), address: address.trim(), format, kinds, filter }
        const answer = await call(noticesCreateEndpoint, { signal, params, body })
        return "secret" in answer ? answer.secret : undefined
      }
      const moved = address.trim() === "" ? {} : { address: address.trim() }
      const body = { name: name.trim(), kinds, filter, ...moved }
      await call(noticesUpdateEndpoint, { signal, params: { ...params, endpointId: endpoint.id }, body })
      return undefined
    },
    onSuccess: (secret) => {
      if (secret === undefined) onClose()
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey: noticeEndpointsQuery(workspace.id).queryKey })
  })
  if (save.data !== undefined) {
    return (
      <SecretOnce
        title={words.secretTitle}
        text={words.secretText}
        secret={save.data}
        done={words.done}
        onClose={onClose}
      />
    )
  }
  return (
    <FormDialog
      title={endpoint === undefined ? words.addTitle : words.editTitle(endpoint.name)}
      action={endpoint === undefined ? words.add : terms.save}
      incomplete={kinds.length === 0}
      change={save}
      onSubmit={() => save.mutate()}
      onClose={onClose}
    >
      <TextField
        label={words.name}
        required
        maxLength={80}
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <TextField
        label={endpoint === undefined ? words.address : words.newAddress}
        helper={endpoint === undefined ? words.addressHelp : words.newAddressHelp}
        type="url"
        required={endpoint === undefined}
        optional={endpoint !== undefined}
        maxLength={2048}
        autoComplete="off"
        value={address}
        onChange={(event) => setAddress(event.target.value)}
      />
      {endpoint === undefined ? (
        <SelectField
          label={words.format}
          value={format}
          onChange={(event) => setFormat(formats.find((each) => each === event.target.value) ?? "json")}
        >
          {formats.map((each) => (
            <option key={each} value={each}>
              {words.formats[each]}
            </option>
          ))}
        </SelectField>
      ) : null}
      <NoticeKindFields legend={words.kinds} chosen={kinds} onChange={setKinds} />
      {projects.length > 1 ? (
        <fieldset className="feature">
          <legend>{words.projects}</legend>
          <div className="field-help">{words.projectsHelp}</div>
          {projects.map((project) => (
            <CheckField
              key={project.id}
              label={project.name}
              checked={projectIds.includes(project.id)}
              onChange={(event) =>
                setProjectIds(
                  event.target.checked ? [...projectIds, project.id] : projectIds.filter((id) => id !== project.id)
                )
              }
            />
          ))}
        </fieldset>
      ) : null}
      <TextField
        label={words.environments}
        helper={words.environmentsHelp}
        optional
        autoCapitalize="off"
        spellCheck={false}
        value={environments}
        onChange={(event) => setEnvironments(event.target.value)}
      />
    </FormDialog>
  )
}

const deliveryTones: Readonly<Record<NoticeDelivery["status"], StatusTone>> = {
  waiting: "busy",
  delivered: "good",
  failed: "bad",
  dropped: "muted"
}

const Delivery = ({ delivery }: { readonly delivery: NoticeDelivery }) => {
  const words = useWords(noticeWords)
  const kinds = useWords(noticeKindWords)
  const workspace = useWorkspace()
  const may = useMay()
  const queryClient = useQueryClient()
  const language = useLanguage()
  const { attempts, createdAt, endpointId, id, kind, lastOutcome, lastStatus, nextAttemptAt, status } = delivery
  const replay = useDecision({
    send: (signal) =>
      call(noticesReplayDelivery, {
        signal,
        params: { workspaceId: workspace.id, endpointId, deliveryId: id },
        body: {}
      }),
    onSettled: () =>
      queryClient.invalidateQueries({ queryKey: noticeDeliveriesQuery(workspace.id, endpointId).queryKey })
  })
  return (
    <li className="row row-static">
      <span className="row-name row-stack">
        <strong>{kinds[kind]}</strong>
        <span className="muted">
          <Time at={createdAt} /> · {words.attempts(attempts)}
          {lastOutcome === undefined ? null : ` · ${words.outcomes[lastOutcome]}`}
          {lastStatus === undefined ? null : ` (${lastStatus})`}
          {nextAttemptAt === undefined ? null : (
            <>
              {" · "}
              {words.next} <Time at={nextAttemptAt} />
            </>
          )}
        </span>
        {replay.error === null ? null : <FaultNotice error={replay.error} />}
      </span>
      <Status tone={deliveryTones[status]}>{words.status[status]}</Status>
      <span className="row-end">
        {may("admin") && status !== "waiting" ? (
          <Button
            small
            of={`${kinds[kind]} · ${exactTime(language, createdAt)}`}
            tone="quiet"
            busy={replay.isPending}
            onClick={() => replay.mutate()}
          >
            {words.replay}
          </Button>
        ) : null}
      </span>
    </li>
  )
}

/** The deliveries to an endpoint, newest first. */
const NoticeLog = ({ endpoint, onClose }: { readonly endpoint: NoticeEndpoint; readonly onClose: () => void }) => {
  const words = useWords(noticeWords)
  const workspace = useWorkspace()
  const log = useInfiniteQuery(noticeDeliveriesQuery(workspace.id, endpoint.id))
  const deliveries = log.data?.pages.flatMap((page) => page.deliveries)
  return (
    <Dialog wide title={words.logTitle(endpoint.name)} onClose={onClose}>
      {log.error === null ? null : <FaultNotice error={log.error} />}
      {deliveries?.length === 0 ? <p>{words.logNone}</p> : null}
      <ul className="rows">
        {(deliveries ?? []).map((delivery) => (
          <Delivery key={delivery.id} delivery={delivery} />
        ))}
      </ul>
      <MorePages query={log} />
    </Dialog>
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
