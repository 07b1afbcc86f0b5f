/** The browser functions that are used for scheduling. */
export interface TurnClock {
  /** Milliseconds. */
  readonly now: () => number
  /** Runs the callback in a separate task, after pending input. */
  readonly later: (run: () => void) => void
}

const sliceMs = 8

/**
 * Processes received data in order and in slices. A browser delivers everything that a socket has received in one task, so a log
 * of a hundred thousand lines would block the next key press.
 */
export class Turns {
  private readonly clock: TurnClock
  private waiting: Array<() => void> = []
  private next = 0
  private asked = false

  constructor(clock: TurnClock) {
    this.clock = clock
  }

  add(work: () => void): void {
    this.waiting.push(work)
    this.ask()
  }

  /** Discards the pending work. */
  clear(): void {
    this.waiting = []
    this.next = 0
  }

  private ask(): void {
    if (this.asked) return
    this.asked = true
    this.clock.later(() => {
      this.asked = false
      this.slice()
    })
  }

  private slice(): void {
    const begin = this.clock.now()
    while (this.next < this.waiting.length) {
      const work = this.waiting[this.next]
      this.next += 1
      work?.()
      if (this.clock.now() - begin >= sliceMs) break
    }
    if (this.next < this.waiting.length) this.ask()
    else this.clear()
  }
}

/** Posts a message instead of setting a timer, because browsers throttle timers in a hidden window. */
export const pageClock = (): TurnClock => {
  const { port1, port2 } = new MessageChannel()
  let run: (() => void) | undefined
  port1.addEventListener("message", () => run?.())
  port1.start()
  return {
    now: () => performance.now(),
    later: (work) => {
      run = work
      port2.postMessage(undefined)
    }
  }
}
