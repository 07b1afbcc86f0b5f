import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useCallback, useEffect, useRef } from "react"
import { warn } from "./Toast.tsx"
import { vocabulary } from "../words/Vocabulary.ts"
import { useWords } from "../words/Words.ts"
import { Fault } from "../api/Fault.ts"
import { untilReachable } from "../api/Reachability.ts"

interface DecisionOptions<A, I> {
  /**
   * Sends the decision. Every request has to use the signal. Closing the dialog aborts the signal, so that no further
   * request is sent.
   */
  readonly send: (signal: AbortSignal, input: I) => Promise<A>
  readonly onSuccess?: (answer: A) => unknown
  readonly onError?: (error: unknown) => unknown
  readonly onSettled?: () => unknown
}

/** The parts of a decision that a dialog uses. */
export interface Decision {
  readonly error: unknown
  readonly isPending: boolean
  /** Aborts the requests that have not received a response. */
  readonly withdraw: () => void
}

/** Cancels a decision when its component is unmounted. */
export const useWithdrawal = ({ withdraw }: Pick<Decision, "withdraw">): void => {
  const last = useRef(withdraw)
  useEffect(() => {
    last.current = withdraw
  })
  useEffect(() => () => last.current(), [])
}

const passedOn = new Set(["unanswered", "http_502", "http_504"])

/** Returns true if the server may have executed a decision although no response arrived. */
const isUncertain = (error: unknown): boolean => error instanceof Fault && passedOn.has(error.code)

/**
 * A decision by the person. The dashboard sends every change as a decision, which is sent or refused immediately, and never
 * repeated or resumed. `withdraw`, or unmounting the component, aborts the decision. If the server may have received the
 * decision but no response arrived, the page reports this uncertainty and reads all its data again.
 */
export const useDecision = <A, I = void>({ send, ...then }: DecisionOptions<A, I>) => {
  const terms = useWords(vocabulary)
  const queryClient = useQueryClient()
  const sending = useRef(new Set<AbortController>())
  const readAgain = useCallback(async (): Promise<void> => {
    await untilReachable()
    await queryClient.invalidateQueries()
  }, [queryClient])
  const { reset, ...mutation } = useMutation<A, unknown, I>({
    // With any other mode, a decision made offline would be queued and sent later.
    networkMode: "always",
    retry: false,
    mutationFn: async (input) => {
      const attempt = new AbortController()
      sending.current.add(attempt)
      try {
        return await send(attempt.signal, input)
      } finally {
        sending.current.delete(attempt)
      }
    },
    ...(then.onSuccess === undefined ? {} : { onSuccess: then.onSuccess }),
    onError: (error) => {
      if (isUncertain(error)) void readAgain()
      return then.onError?.(error)
    },
    ...(then.onSettled === undefined ? {} : { onSettled: then.onSettled })
  })
  const { withdrawn } = terms.fault
  const withdraw = useCallback(() => {
    if (sending.current.size === 0) return
    for (const attempt of sending.current) attempt.abort()
    sending.current.clear()
    reset()
    warn(withdrawn)
    void readAgain()
  }, [reset, withdrawn, readAgain])
  const decision = { ...mutation, reset, withdraw }
  useWithdrawal(decision)
  return decision
}
