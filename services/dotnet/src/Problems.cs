using Microsoft.AspNetCore.Diagnostics;

namespace Locations;

/// <summary>Whatever goes wrong becomes JSON with a message; what only the operator should know is logged.</summary>
public static class Problems
{
    public static async Task FromExceptions(HttpContext context, RequestDelegate next)
    {
        try
        {
            await next(context);
        }
        catch (OperationCanceledException) when (context.RequestAborted.IsCancellationRequested)
        {
            // The client is gone; there is nobody to answer.
        }
        catch (Exception e) when (!context.Response.HasStarted)
        {
            var log = context.RequestServices.GetRequiredService<ILoggerFactory>().CreateLogger(nameof(Problems));
            log.LogError("{Path}: {Type}: {Message}", context.Request.Path, e.GetType().Name, e.Message);
            context.Response.StatusCode = StatusCodes.Status502BadGateway;
            await context.Response.WriteAsJsonAsync(new Problem("store: Elasticsearch did not answer as it should"));
        }
    }

    /// <summary>Those that routing finds, which have no body yet.</summary>
    public static Task FromStatus(StatusCodeContext context)
    {
        var response = context.HttpContext.Response;
        var message = response.StatusCode switch
        {
            StatusCodes.Status404NotFound => "path: there is nothing here",
            StatusCodes.Status405MethodNotAllowed => "method: only GET is served here",
            _ => "request: not understood",
        };
        return response.WriteAsJsonAsync(new Problem(message));
    }
}
