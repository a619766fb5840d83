// Agent cards: static, because they are cached; what changes is only in the extended card.
import type { AgentCard } from '@a2a-js/sdk'
import { WORKER_TTL_S } from '../../limits.ts'
import { type Announce, REPLY_SCHEMAS } from '../messages.ts'
import { EXTENSION } from './extension.ts'

export interface CardFacts {
  readonly name: string
  readonly description: string
  readonly url: string
  readonly version: string
  /** Words that a client without the extension can choose by. */
  readonly tags: readonly string[]
  readonly params: Readonly<Record<string, unknown>>
}

export function agentCard({ name, description, url, version, tags, params }: CardFacts): AgentCard {
  const at = (protocolBinding: string, protocolVersion: string): AgentCard['supportedInterfaces'][number] => ({
    url,
    protocolBinding,
    protocolVersion,
    tenant: '',
  })
  return {
    name,
    description,
    version,
    supportedInterfaces: [at('JSONRPC', '1.0'), at('HTTP+JSON', '1.0'), at('JSONRPC', '0.3')],
    provider: undefined,
    documentationUrl: undefined,
    iconUrl: undefined,
    capabilities: {
      streaming: true,
      pushNotifications: false,
      extendedAgentCard: true,
      extensions: [
        {
          uri: EXTENSION,
          description: 'announce, dispatch and result as data',
          required: false,
          params: { ...params },
        },
      ],
    },
    securitySchemes: {
      bearer: {
        scheme: {
          $case: 'httpAuthSecurityScheme',
          value: { scheme: 'bearer', bearerFormat: '', description: 'token of a peer' },
        },
      },
    },
    securityRequirements: [{ schemes: { bearer: { list: [] } } }],
    defaultInputModes: ['text/plain', 'application/json'],
    defaultOutputModes: ['text/plain', 'application/json'],
    skills: [
      {
        id: 'task',
        name: 'task',
        description,
        tags: [...tags],
        examples: [],
        inputModes: [],
        outputModes: [],
        securityRequirements: [],
      },
    ],
    signatures: [],
  }
}

/** The same for clients of 0.3, which look for other names. */
export function legacyCard({ name, description, url, version, tags, params }: CardFacts): object {
  return {
    protocolVersion: '0.3.0',
    name,
    description,
    url,
    preferredTransport: 'JSONRPC',
    additionalInterfaces: [{ url, transport: 'JSONRPC' }],
    version,
    capabilities: {
      streaming: true,
      pushNotifications: false,
      extensions: [{ uri: EXTENSION, description: 'announce, dispatch and result as data', required: false, params }],
    },
    securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
    security: [{ bearer: [] }],
    supportsAuthenticatedExtendedCard: true,
    defaultInputModes: ['text/plain', 'application/json'],
    defaultOutputModes: ['text/plain', 'application/json'],
    skills: [{ id: 'task', name: 'task', description, tags }],
  }
}

/** Names only: whether a server answers is in the announce. */
export function workerFacts(
  announce: Announce,
  url: string,
  version: string,
  runtimes: readonly string[] = [],
): CardFacts {
  const { worker, capabilities } = announce
  return {
    name: worker.agent_id,
    description: 'runs tasks of one repository, and says before it begins whether it can',
    url,
    version,
    tags: [...capabilities.tools, ...capabilities.mcp_servers, worker.model_tier].filter((tag) => tag !== ''),
    params: {
      protocol_minor: 0,
      features: announce.features,
      runtimes,
      model_tiers: [worker.model_tier],
      tools: capabilities.tools,
      mcp_servers: capabilities.mcp_servers,
      reply_schemas: REPLY_SCHEMAS,
      budget_units: { tokens: announce.budget_enforcement },
      max_concurrent: announce.max_concurrent,
      announce: { mode: ['push', 'pull'], ttl_s: WORKER_TTL_S },
    },
  }
}

/** The live announce stands where the static facts do. */
export const liveCard = (facts: CardFacts, announce: Announce): AgentCard =>
  agentCard({ ...facts, params: { ...facts.params, session_announce: announce } })
