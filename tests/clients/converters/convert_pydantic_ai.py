"""pydantic-ai: its transformers of schemas for each provider."""

from converting import converted, copied, mcp_tools
from pydantic_ai.profiles.google import GoogleJsonSchemaTransformer
from pydantic_ai.profiles.openai import OpenAIJsonSchemaTransformer
from pydantic_ai.providers.anthropic import AnthropicJsonSchemaTransformer
from pydantic_ai.providers.bedrock import BedrockJsonSchemaTransformer


def walked(transformer, **options):
    return {tool.name: transformer(copied(tool.input_schema), **options).walk() for tool in mcp_tools()}


converted(
    {
        "OpenAI": walked(OpenAIJsonSchemaTransformer),
        "strict OpenAI": walked(OpenAIJsonSchemaTransformer, strict=True),
        "Google": walked(GoogleJsonSchemaTransformer),
        "Anthropic": walked(AnthropicJsonSchemaTransformer),
        "strictly typed Anthropic": walked(AnthropicJsonSchemaTransformer, strict=True),
        "Bedrock": walked(BedrockJsonSchemaTransformer),
    }
)
