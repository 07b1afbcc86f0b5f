import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"

/** Records, as method and path, every route that layers on top of this layer add to the router. */
export const recordedRoutes = (found: Set<string>) =>
  Layer.effectDiscard(
    Effect.map(HttpRouter.HttpRouter, (router) => {
      const add = new Proxy(router.add, {
        apply: (target, self, [method, path, ...rest]) => {
          found.add(`${method} ${path}`)
          return Reflect.apply(target, self, [method, path, ...rest])
        }
      })
      const addAll = new Proxy(router.addAll, {
        apply: (target, self, [routes]) => {
          for (const { method, path } of routes) found.add(`${method} ${path}`)
          return Reflect.apply(target, self, [routes])
        }
      })
      Object.assign(router, { add, addAll })
    })
  )
