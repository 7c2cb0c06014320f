"""
Keys with budgets for LiteLLM's proxy where it has no database. The keys are listed here; LiteLLM's own check compares
a key's budget with its spend, and LiteLLM's own counters hold the spend, in memory.
"""

from litellm.integrations.custom_logger import CustomLogger
from litellm.proxy._types import UserAPIKeyAuth
from litellm.proxy.auth.auth_checks import virtual_key_max_budget_check

# An image costs $0.04: the second key can pay for a few.
BUDGETS_USD = {"sk-bench-plenty": 1_000_000.0, "sk-bench-little": 0.1}


async def user_api_key_auth(request, api_key: str) -> UserAPIKeyAuth:
    from litellm.proxy.proxy_server import proxy_logging_obj

    if api_key not in BUDGETS_USD:
        raise Exception("unknown key")
    key = UserAPIKeyAuth(api_key=api_key, key_alias="bench", max_budget=BUDGETS_USD[api_key])
    await virtual_key_max_budget_check(valid_token=key, proxy_logging_obj=proxy_logging_obj)
    return key


class CountSpend(CustomLogger):
    async def async_log_success_event(self, kwargs, response_obj, start_time, end_time):
        from litellm.proxy.proxy_server import increment_spend_counters

        metadata = kwargs["litellm_params"]["metadata"]
        await increment_spend_counters(
            token=metadata["user_api_key"],
            team_id=None,
            user_id=None,
            response_cost=kwargs["response_cost"],
        )


count_spend = CountSpend()
