import { Layer } from "effect"
import * as ForgeLive from "../../runner/forge/ForgeLive.ts"
import { OAuthClient } from "../../runner/oauth/OAuthClient.ts"
import * as ConnectionActor from "./connection/ConnectionActor.ts"
import { ConnectionAuthorizations } from "./connection/ConnectionAuthorizations.ts"
import { ConnectionStore } from "./connection/ConnectionStore.ts"
import { ConnectionTokens } from "./connection/ConnectionTokens.ts"
import { ConnectionUses } from "./connection/ConnectionUses.ts"
import * as ConnectionsLive from "./connection/ConnectionsLive.ts"
import { CredentialTest } from "./connection/CredentialTest.ts"
import { CredentialsInUse } from "./connection/CredentialsInUse.ts"
import { TokenRenewals } from "./connection/TokenRenewals.ts"
import { Deliveries } from "./delivery/Deliveries.ts"
import { Endpoints } from "./delivery/Endpoints.ts"
import { GeneratedSecrets } from "./delivery/GeneratedSecrets.ts"
import { IdentityCapability } from "./delivery/IdentityCapability.ts"
import { InterfaceConsumption } from "./delivery/InterfaceConsumption.ts"
import { RunDeliveries } from "./delivery/RunDeliveries.ts"
import { StoredCommits } from "./git/StoredCommits.ts"

const connections = Layer.mergeAll(ConnectionsLive.layer, ConnectionActor.layer, TokenRenewals.layer).pipe(
  Layer.provideMerge(
    Layer.mergeAll(
      CredentialsInUse.layer.pipe(Layer.provideMerge(Layer.mergeAll(ConnectionStore.layer, ConnectionTokens.layer))),
      ConnectionAuthorizations.layer,
      ConnectionUses.layer,
      CredentialTest.layer,
      OAuthClient.layer
    ).pipe(Layer.provideMerge(ForgeLive.layer))
  )
)

const delivery = Deliveries.layer.pipe(
  Layer.provideMerge(InterfaceConsumption.layer),
  Layer.provideMerge(
    Layer.mergeAll(Endpoints.layer, GeneratedSecrets.layer, RunDeliveries.layer, IdentityCapability.layer)
  )
)

/** Layers for the services that collect the values and credentials of Runs. */
export const inputs = Layer.mergeAll(StoredCommits.layer, delivery).pipe(Layer.provideMerge(connections))
