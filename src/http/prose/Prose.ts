import type { FrameName } from "../description/StreamDescription.ts"

/** The description of a route. */
export interface RouteProse {
  readonly summary: string
  readonly description: string
  /** The name of the frames, if the route supports live streaming. */
  readonly frames?: FrameName
}

/** Descriptions of a group and of all its routes. With this type, a route without a description is a compile error. */
export interface GroupProse<Group extends { readonly endpoints: object }> {
  readonly about: string
  readonly routes: { readonly [Id in keyof Group["endpoints"]]: RouteProse }
}

export const route = (summary: string, description: string): RouteProse => ({ summary, description })

/** Describes a route that queues a Run. */
export const queuedRun = (summary: string, description: string): RouteProse =>
  route(
    summary,
    `${description}\n\n**Queue:** a Workspace whose queue is full gets 429 \`rate_limited\` with \`Retry-After\`; nothing is written.`
  )

/** Describes a read that supports live streaming, with the name of the frames. */
export const liveRead = (summary: string, description: string, frames: FrameName): RouteProse => ({
  summary,
  description,
  frames
})
