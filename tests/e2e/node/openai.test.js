// The official OpenAI client: Chat Completions and Responses on every upstream.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import OpenAI from 'openai';
import { zodResponseFormat } from 'openai/helpers/zod';
import { z } from 'zod';

import { answer, both, city, rejection, upstreams, url, weatherIn } from './task.js';

const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'any', maxRetries: 0 });
const chatTool = { type: 'function', function: { name: 'get_weather', parameters: city } };
const responsesTool = { type: 'function', name: 'get_weather', parameters: city, strict: true };

for (const upstream of upstreams) {
  const model = `${upstream}/demo`;

  describe(`chat on ${upstream}`, () => {
    const ask = (messages, more = {}) =>
      client.chat.completions.create({ model, messages, tools: [chatTool], ...more });
    const streamed = (messages, more = {}) =>
      client.chat.completions
        .stream({ model, messages, tools: [chatTool], ...more })
        .finalChatCompletion();
    const question = { role: 'user', content: both };

    for (const [name, speak] of [['whole', ask], ['streamed', streamed]]) {
      test(`a tool loop, ${name}`, async () => {
        const first = (await speak([question])).choices[0];
        assert.equal(first.finish_reason, 'tool_calls');
        const results = first.message.tool_calls.map((call) => ({
          role: 'tool',
          tool_call_id: call.id,
          content: weatherIn(JSON.parse(call.function.arguments).city),
        }));
        assert.equal(results.length, 2);
        const last = (await speak([question, first.message, ...results])).choices[0];
        assert.equal(last.finish_reason, 'stop');
        assert.equal(last.message.content, answer);
      });

      test(`a forced choice and one call at a time, ${name}`, async () => {
        const forced = { tool_choice: 'required', parallel_tool_calls: false };
        const { message } = (await speak([question], forced)).choices[0];
        assert.equal(message.tool_calls.length, 1);
        const named = { tool_choice: { type: 'function', function: { name: 'get_weather' } } };
        const called = (await speak([{ role: 'user', content: 'Hello' }], named)).choices[0];
        assert.equal(called.message.tool_calls[0].function.name, 'get_weather');
        const none = (await speak([question], { tool_choice: 'none' })).choices[0];
        assert.equal(none.message.tool_calls?.length ?? 0, 0);
      });

      test(`a tool loop with thinking, ${name}`, async () => {
        const effort = { reasoning_effort: 'low' };
        const first = (await speak([question], effort)).choices[0];
        assert.ok(first.message.reasoning_content);
        const results = first.message.tool_calls.map((call) => ({
          role: 'tool',
          tool_call_id: call.id,
          content: weatherIn(JSON.parse(call.function.arguments).city),
        }));
        const last = (await speak([question, first.message, ...results], effort)).choices[0];
        assert.equal(last.message.content, answer);
      });
    }

    test('thinking as it is streamed', async () => {
      const stream = await ask([question], { reasoning_effort: 'low', stream: true });
      let thought = '';
      for await (const chunk of stream) {
        thought += chunk.choices[0].delta.reasoning_content ?? '';
      }
      assert.equal(thought, 'This needs a tool → get_weather and get_weather.');
    });

    test('the runner comes to an end', async () => {
      const asked = [];
      const tool = {
        type: 'function',
        function: {
          name: 'get_weather',
          parameters: city,
          parse: JSON.parse,
          function: (args) => (asked.push(args.city), weatherIn(args.city)),
        },
      };
      for (const stream of [false, true]) {
        const run = client.chat.completions.runTools({
          model,
          messages: [question],
          tools: [tool],
          stream,
        });
        assert.equal(await run.finalContent(), answer);
      }
      assert.deepEqual(asked, ['Oslo', 'Rome', 'Oslo', 'Rome']);
    });

    test('a structured answer', async () => {
      const person = z.object({ name: z.string(), age: z.number().int() });
      const parsed = await client.chat.completions.parse({
        model,
        messages: [{ role: 'user', content: 'Ann is 42' }],
        response_format: zodResponseFormat(person, 'person'),
      });
      assert.deepEqual(parsed.choices[0].message.parsed, { name: 'demo name', age: 42 });
    });

    test('typed errors', async () => {
      const asked = (quirk, more) =>
        ask([question], { model: `${model}+${quirk}`, ...more });
      const limited = await rejection(asked('rate-limit'), OpenAI.RateLimitError);
      assert.equal(limited.headers.get('retry-after'), '1');
      assert.match(limited.message, /Rate limit reached for requests\./);
      for (const quirk of ['overloaded', 'server-error', 'html-error', 'error-200', 'cut']) {
        await rejection(asked(quirk), OpenAI.InternalServerError);
        if (quirk !== 'cut') {
          await rejection(asked(quirk, { stream: true }), OpenAI.InternalServerError);
        }
      }
      for (const quirk of ['cut', 'error-mid-stream']) {
        const broken = streamed([question], { model: `${model}+${quirk}` });
        await rejection(broken, OpenAI.APIError);
      }
      await rejection(ask([question], { temperature: 'hot' }), OpenAI.BadRequestError);
    });
  });

  describe(`responses on ${upstream}`, () => {
    const ask = (input, more = {}) =>
      client.responses.create({ model, input, tools: [responsesTool], ...more });
    const streamed = (input, more = {}) =>
      client.responses.stream({ model, input, tools: [responsesTool], ...more }).finalResponse();
    const outputs = (response) =>
      response.output
        .filter((item) => item.type === 'function_call')
        .map((call) => ({
          type: 'function_call_output',
          call_id: call.call_id,
          output: weatherIn(JSON.parse(call.arguments).city),
        }));

    for (const [name, speak] of [['whole', ask], ['streamed', streamed]]) {
      test(`a tool loop with the whole history, ${name}`, async () => {
        const sealed = {
          store: false,
          reasoning: { effort: 'low', summary: 'auto' },
          include: ['reasoning.encrypted_content'],
        };
        const first = await speak([{ role: 'user', content: both }], sealed);
        assert.deepEqual(
          first.output.map((item) => item.type),
          ['reasoning', 'function_call', 'function_call'],
        );
        const history = [{ role: 'user', content: both }, ...first.output, ...outputs(first)];
        const last = await speak(history, sealed);
        assert.equal(last.output_text, answer);
      });

      test(`a tool loop by reference, ${name}`, async () => {
        const first = await speak(both);
        const last = await speak(outputs(first), { previous_response_id: first.id });
        assert.equal(last.output_text, answer);
      });

      test(`a forced choice and one call at a time, ${name}`, async () => {
        const forced = { tool_choice: 'required', parallel_tool_calls: false };
        assert.equal(outputs(await speak(both, forced)).length, 1);
        assert.equal(outputs(await speak(both, { tool_choice: 'none' })).length, 0);
      });
    }

    test('typed errors', async () => {
      const asked = (quirk) => ask(both, { model: `${model}+${quirk}` });
      await rejection(asked('rate-limit'), OpenAI.RateLimitError);
      for (const quirk of ['overloaded', 'server-error', 'html-error', 'error-200', 'cut']) {
        await rejection(asked(quirk), OpenAI.InternalServerError);
      }
      for (const quirk of ['cut', 'error-mid-stream']) {
        const events = [];
        for await (const event of await ask(both, { model: `${model}+${quirk}`, stream: true })) {
          events.push(event);
        }
        assert.equal(events.at(-1).type, 'response.failed');
        assert.ok(events.at(-1).response.error.message);
      }
    });
  });
}
