// Vercel's `ai` with its own providers, none of which uses the vendors' clients.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { APICallError, Output, generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai';

import { answer, both, city, rejection, upstreams, url, weatherIn } from './task.js';

const openai = createOpenAI({ baseURL: `${url}/v1`, apiKey: 'any' });
const compatible = createOpenAICompatible({
  name: 'toolwire',
  baseURL: `${url}/v1`,
  apiKey: 'any',
  includeUsage: true,
  supportsStructuredOutputs: true,
});
const anthropic = createAnthropic({ baseURL: `${url}/v1`, apiKey: 'any' });

// Each provider: how it makes a model, and how it asks for thinking.
const providers = {
  'openai chat': [openai.chat, { openai: { reasoningEffort: 'low' } }],
  'openai responses': [
    openai.responses,
    {
      openai: {
        reasoningEffort: 'low',
        reasoningSummary: 'auto',
        forceReasoning: true,
        store: false,
        include: ['reasoning.encrypted_content'],
      },
    },
  ],
  'openai-compatible': [compatible, { toolwire: { reasoningEffort: 'low' } }],
  anthropic: [anthropic, { anthropic: { thinking: { type: 'enabled', budgetTokens: 1024 } } }],
};
const showsThinking = (name) => name !== 'openai chat'; // which knows no reasoning_content

for (const [name, [make, thinking]] of Object.entries(providers)) {
  for (const upstream of upstreams) {
    const model = (quirk) => make(`${upstream}/demo${quirk ? `+${quirk}` : ''}`);
    const common = { maxRetries: 0, maxOutputTokens: 3000 };
    const weather = (asked) => ({
      get_weather: tool({
        description: 'The weather in a city.',
        inputSchema: jsonSchema(city),
        execute: async (input) => (asked.push(input.city), weatherIn(input.city)),
      }),
    });
    const loop = { prompt: both, stopWhen: stepCountIs(5), ...common };

    describe(`${name} on ${upstream}`, () => {
      test('a tool loop', async () => {
        const asked = [];
        const result = await generateText({ model: model(), tools: weather(asked), ...loop });
        assert.deepEqual(asked, ['Oslo', 'Rome']);
        assert.equal(result.text, answer);
        assert.equal(result.steps.length, 2);
        assert.equal(result.steps[0].finishReason, 'tool-calls');
        assert.equal(result.finishReason, 'stop');
        assert.ok(result.totalUsage.inputTokens > 0 && result.totalUsage.outputTokens > 0);
      });

      test('a streamed tool loop with thinking', async () => {
        const asked = [];
        const failures = [];
        const result = streamText({
          model: model(),
          tools: weather(asked),
          providerOptions: thinking,
          onError: ({ error }) => failures.push(error),
          ...loop,
        });
        const parts = [];
        for await (const part of result.fullStream) {
          parts.push(part.type);
        }
        assert.deepEqual(failures, []);
        assert.deepEqual(asked, ['Oslo', 'Rome']);
        assert.equal(await result.text, answer);
        assert.ok(parts.filter((type) => type === 'tool-input-delta').length > 6);
        assert.ok(parts.filter((type) => type === 'text-delta').length > 6);
        const shown = parts.filter((type) => type === 'reasoning-delta').length > 6;
        assert.equal(shown, showsThinking(name));
        assert.ok((await result.totalUsage).outputTokens > 0);
      });

      test('a forced choice', async () => {
        for (const toolChoice of ['required', { type: 'tool', toolName: 'get_weather' }]) {
          const result = await generateText({
            model: model(),
            prompt: 'Oslo',
            tools: weather([]),
            toolChoice,
            ...common,
          });
          assert.deepEqual(
            result.toolCalls.map((call) => call.toolName),
            ['get_weather'],
          );
        }
      });

      test('a structured answer', async () => {
        const person = jsonSchema({
          type: 'object',
          properties: { name: { type: 'string' }, age: { type: 'integer' } },
          required: ['name', 'age'],
          additionalProperties: false,
        });
        const result = await generateText({
          model: model(),
          prompt: 'Ann is 42',
          output: Output.object({ schema: person }),
          ...common,
        });
        assert.deepEqual(result.output, { name: 'demo name', age: 42 });
      });

      test('typed errors', async () => {
        const asked = (quirk) => generateText({ model: model(quirk), prompt: 'hi', ...common });
        const expected = {
          'rate-limit': [429],
          overloaded: [503, 529],
          'server-error': [500],
          'html-error': [502],
          'error-200': [502],
          cut: [502],
        };
        for (const [quirk, statuses] of Object.entries(expected)) {
          const error = await rejection(asked(quirk), APICallError);
          assert.ok(statuses.includes(error.statusCode), `${quirk}: ${error.statusCode}`);
          assert.equal(error.isRetryable, true);
        }
        // The client's own mistake, told by the upstream; elsewhere it is put into range.
        if (name === 'openai-compatible' && upstream === 'chat') {
          const wrong = { model: model(), prompt: 'hi', temperature: 5, ...common };
          const error = await rejection(generateText(wrong), APICallError);
          assert.equal(error.statusCode, 400);
          assert.equal(error.isRetryable, false);
        }
      });

      test('a stream that breaks off', async () => {
        for (const quirk of ['cut', 'error-mid-stream']) {
          const failures = [];
          const result = streamText({
            model: model(quirk),
            prompt: 'one two three four',
            ...common,
            onError: ({ error }) => failures.push(error),
          });
          const parts = [];
          for await (const part of result.fullStream) {
            parts.push(part);
          }
          assert.ok(parts.some((part) => part.type === 'text-delta'), quirk);
          assert.ok(failures.length > 0, `${quirk}: no error was told`);
          const finish = parts.find((part) => part.type === 'finish');
          assert.ok(!finish || ['error', 'other', 'unknown'].includes(finish.finishReason), quirk);
        }
      });
    });
  }
}
