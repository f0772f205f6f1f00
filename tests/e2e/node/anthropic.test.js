// The official Anthropic client on every upstream.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import Anthropic from '@anthropic-ai/sdk';
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';

import { answer, both, city, rejection, upstreams, url, weatherIn } from './task.js';

const client = new Anthropic({ baseURL: url, apiKey: 'any', maxRetries: 0 });
const tools = [{ name: 'get_weather', input_schema: city }];
const thinking = { type: 'enabled', budget_tokens: 1024 };
const question = { role: 'user', content: both };

for (const upstream of upstreams) {
  const model = `${upstream}/demo`;
  const ask = (messages, more = {}) =>
    client.messages.create({ model, max_tokens: 2000, messages, tools, ...more });
  const streamed = (messages, more = {}) =>
    client.messages.stream({ model, max_tokens: 2000, messages, tools, ...more }).finalMessage();
  const calls = (message) => message.content.filter((block) => block.type === 'tool_use');

  describe(`messages on ${upstream}`, () => {
    for (const [name, speak] of [['whole', ask], ['streamed', streamed]]) {
      test(`a tool loop with thinking, ${name}`, async () => {
        const first = await speak([question], { thinking });
        assert.equal(first.stop_reason, 'tool_use');
        assert.deepEqual(
          first.content.map((block) => block.type),
          ['thinking', 'tool_use', 'tool_use'],
        );
        const results = calls(first).map((call) => ({
          type: 'tool_result',
          tool_use_id: call.id,
          content: weatherIn(call.input.city),
        }));
        const history = [
          question,
          { role: 'assistant', content: first.content },
          { role: 'user', content: results },
        ];
        const last = await speak(history, { thinking });
        assert.equal(last.stop_reason, 'end_turn');
        assert.equal(last.content.at(-1).text, answer);
      });

      test(`choices, ${name}`, async () => {
        const one = { type: 'any', disable_parallel_tool_use: true };
        assert.equal(calls(await speak([question], { tool_choice: one })).length, 1);
        const named = { type: 'tool', name: 'get_weather' };
        const hello = [{ role: 'user', content: 'Hello' }];
        assert.equal(calls(await speak(hello, { tool_choice: named })).length, 1);
        const none = { type: 'none' };
        assert.equal(calls(await speak([question], { tool_choice: none })).length, 0);
      });
    }

    for (const stream of [false, true]) {
      test(`the tool runner comes to an end, ${stream ? 'streamed' : 'whole'}`, async () => {
        const asked = [];
        const weather = betaTool({
          name: 'get_weather',
          description: 'The weather in a city.',
          inputSchema: city,
          run: (input) => (asked.push(input.city), weatherIn(input.city)),
        });
        const runner = client.beta.messages.toolRunner({
          model,
          max_tokens: 2000,
          messages: [question],
          tools: [weather],
          stream,
        });
        const final = await runner.runUntilDone();
        assert.deepEqual(asked, ['Oslo', 'Rome']);
        assert.equal(final.content[0].text, answer);
      });
    }

    test('tokens are counted', async () => {
      const counted = await client.messages.countTokens({ model, messages: [question], tools });
      assert.ok(counted.input_tokens > 10);
    });

    test('typed errors', async () => {
      const asked = (quirk, more) => ask([question], { model: `${model}+${quirk}`, ...more });
      const limited = await rejection(asked('rate-limit'), Anthropic.RateLimitError);
      assert.equal(limited.headers.get('retry-after'), '1');
      for (const quirk of ['overloaded', 'server-error', 'html-error', 'error-200', 'cut']) {
        await rejection(asked(quirk), Anthropic.InternalServerError);
        if (quirk !== 'cut') {
          await rejection(asked(quirk, { stream: true }), Anthropic.InternalServerError);
        }
      }
      for (const quirk of ['cut', 'error-mid-stream']) {
        const broken = streamed([question], { model: `${model}+${quirk}` });
        await rejection(broken, Anthropic.APIError);
      }
      await rejection(ask([question], { temperature: 'hot' }), Anthropic.BadRequestError);
    });
  });
}
