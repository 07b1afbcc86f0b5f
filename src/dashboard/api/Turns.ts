/** What turns need of the browser. */
export interface TurnClock {
  /** Milliseconds. */
  readonly now: () => number
  /** Runs it in a task of its own, after what the reader did meanwhile. */
  readonly later: (run: () => void) => void
}

const sliceMs = 8

/**
 * Works through what arrives, in order and a slice at a time: a browser hands over everything that a socket received in one
 * task, and a log of a hundred thousand lines would hold up the reader's next key.
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

  /** Forgets what has not been done. */
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

/** Of the page. A message is not slowed down in a window that nobody looks at, as a timer would be. */
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
