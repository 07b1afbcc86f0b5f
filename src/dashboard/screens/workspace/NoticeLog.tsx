import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query"
import { call } from "../../api/Call.ts"
import { noticesReplayDelivery } from "../../api/Endpoints.ts"
import { noticeDeliveriesQuery } from "../../api/NoticeQueries.ts"
import type { NoticeDelivery, NoticeEndpoint } from "../../api/Types.ts"
import { useMay, useWorkspace } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { useDecision } from "../../ui/Decision.ts"
import { Dialog } from "../../ui/Dialog.tsx"
import { FaultNotice } from "../../ui/Feedback.tsx"
import { MorePages } from "../../ui/MorePages.tsx"
import { Status, type StatusTone } from "../../ui/Status.tsx"
import { Time } from "../../ui/Time.tsx"
import { exactTime } from "../../words/Format.ts"
import { noticeKindWords } from "../../words/NoticeKindWords.ts"
import { useLanguage, useWords } from "../../words/Words.ts"
import { noticeWords } from "./NoticeWords.ts"

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
export const NoticeLog = ({
  endpoint,
  onClose
}: {
  readonly endpoint: NoticeEndpoint
  readonly onClose: () => void
}) => {
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
